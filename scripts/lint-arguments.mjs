/** The paths of the program's own functions. Readers do not know the meaning of their booleans. */
const ownSource = /^(?!.*\/node_modules\/).*\/src\/(?!shared\/proto\/)/;

/**
 * Finds a `true` or `false` that is an argument of a function of the program. `drain(0, true)` does
 * not show what `true` means. A word, or a member of an object, does.
 */
export const namedArguments = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { boolean: 'A reader of this call cannot tell what the boolean means: use a word.' },
  },
  create(context) {
    const services = context.sourceCode.parserServices;
    const checker = services.program.getTypeChecker();
    const isOwn = (call) => {
      const node = services.esTreeNodeToTSNodeMap.get(call);
      const declaration = checker.getResolvedSignature(node)?.declaration;
      return declaration !== undefined && ownSource.test(declaration.getSourceFile().fileName);
    };
    return {
      'CallExpression > Literal[raw=/^(true|false)$/]'(node) {
        const call = node.parent;
        if (call.arguments.includes(node) && isOwn(call))
          context.report({ node, messageId: 'boolean' });
      },
    };
  },
};

/**
 * Finds a default of a parameter in pure code. Configured values come from outside, and a default
 * hides that a caller forgot to pass one. A scheduler and an empty list or object may be defaults.
 */
export const givenValues = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { standard: 'The caller passes the value: a pure function has no default.' },
  },
  create(context) {
    const isAllowed = ({ type, name, properties, elements }) =>
      (type === 'Identifier' && name === 'asyncScheduler') ||
      (type === 'ObjectExpression' && properties.length === 0) ||
      (type === 'ArrayExpression' && elements.length === 0);
    return {
      ':function > AssignmentPattern.params'(node) {
        if (!isAllowed(node.right)) context.report({ node, messageId: 'standard' });
      },
    };
  },
};
