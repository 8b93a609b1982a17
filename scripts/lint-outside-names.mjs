import ts from 'typescript';

/**
 * Finds a member of a plain object that is read or written by a name known only at run time, and
 * `name in object`. A plain object is not a map of names from outside, because it has
 * `constructor`, `toString` and `__proto__` from the start. Use a Map, `Object.hasOwn` around the
 * access, or `Object.fromEntries`.
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

    /** Whether the type of a name allows any text, not only names of the program. */
    const isAnyName = (node) => {
      if (node.type === 'Literal') return false;
      const type = services.getTypeAtLocation(node);
      const parts = type.isUnion() ? type.types : [type];
      return parts.some(
        (part) => (part.flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) !== 0,
      );
    };
    const isRecord = (node) => {
      if (textOf(node) === 'env') return false; // the program chooses the names of variables
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
    /** Whether `Object.hasOwn(object, name)` guards the node. */
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
    /** Whether the name comes from the object: `for (const name in object)`. */
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
