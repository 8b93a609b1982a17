/** Where the functions of the program itself are, of which a reader knows no boolean by heart. */
const ownSource = /^(?!.*\/node_modules\/).*\/src\/(?!shared\/proto\/)/;

/**
 * `drain(0, true)` does not say what is asked for. Finds a `true` or `false` that is an argument of
 * a function of the program: a word, or a member of an object, says it.
 */
export const namedArguments = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { boolean: 'Whoever reads this call cannot tell what it means: take a word.' },
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
 * What is configured comes from outside, and a pure function that fills it in hides that somebody
 * has forgotten to pass it. Finds a default of a parameter, but for the world, as a scheduler, and
 * for nothing, as an empty list.
 */
export const givenValues = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { standard: 'Whoever calls it says the value: a pure function has no default.' },
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
