import ts from 'typescript';

/**
 * A plain object is not a map of names that come from outside: it has `constructor`, `toString` and
 * `__proto__` before anybody has put something in. Finds a member that is read or written by a name
 * that is known only at run time, and `name in object`. A Map, `Object.hasOwn` around it, and
 * Object.fromEntries are right.
 */
export const outsideNames = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      member:
        'A plain object has names of its own, such as constructor: use a Map, or ask Object.hasOwn(…) first.',
    },
  },
  create(context) {
    const services = context.sourceCode.parserServices;
    const checker = services.program.getTypeChecker();
    const textOf = (node) => context.sourceCode.getText(node);

    /** A name that is none of those that the program has itself. */
    const isAnyName = (node) => {
      if (node.type === 'Literal') return false;
      const type = services.getTypeAtLocation(node);
      const parts = type.isUnion() ? type.types : [type];
      return parts.some(
        (part) => (part.flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) !== 0,
      );
    };
    const isRecord = (node) => {
      if (textOf(node) === 'env') return false; // asked by names of the program's own
      const type = checker.getApparentType(services.getTypeAtLocation(node));
      const parts = type.isUnion() ? type.types : [type];
      return parts.some(
        (part) =>
          checker.getIndexInfoOfType(part, ts.IndexKind.String) !== undefined ||
          checker
            .getIndexInfosOfType(part)
            .some(({ keyType }) => (keyType.flags & ts.TypeFlags.TemplateLiteral) !== 0),
      );
    };
    /** `Object.hasOwn(object, name)` decides whether the node is looked at. */
    const isGuarded = (node, object, name) => {
      const guard = `Object.hasOwn(${textOf(object)}, ${textOf(name)})`;
      for (let around = node; around !== undefined && around !== null; around = around.parent) {
        const { parent } = around;
        const test =
          parent?.type === 'LogicalExpression'
            ? parent.right === around
              ? parent.left
              : undefined
            : parent?.test;
        if (test !== undefined && test !== null && test !== around && textOf(test).includes(guard))
          return true;
      }
      return false;
    };
    /** The name is one of those that the object has: `for (const name in object)`. */
    const isOfLoop = (node, object, name) => {
      for (
        let around = node.parent;
        around !== null && around !== undefined;
        around = around.parent
      )
        if (
          around.type === 'ForInStatement' &&
          textOf(around.right) === textOf(object) &&
          textOf(around.left).endsWith(` ${textOf(name)}`)
        )
          return true;
      return false;
    };
    return {
      'MemberExpression[computed=true]'(node) {
        const { object, property } = node;
        const isSafe = isGuarded(node, object, property) || isOfLoop(node, object, property);
        if (isAnyName(property) && isRecord(object) && !isSafe)
          context.report({ node, messageId: 'member' });
      },
      "BinaryExpression[operator='in']"(node) {
        if (node.left.type !== 'PrivateIdentifier' && isAnyName(node.left))
          context.report({ node, messageId: 'member' });
      },
    };
  },
};
