import { builtinModules } from 'node:module';
import rxjsX from 'eslint-plugin-rxjs-x';
import tseslint from 'typescript-eslint';
import { givenValues, namedArguments } from './scripts/lint-arguments.mjs';
import { plainComments, plainStrings, sayingNames } from './scripts/plain-english.mjs';
import { outsideNames } from './scripts/lint-outside-names.mjs';

/** Node's own modules are told from packages by `node:`. */
const bare = builtinModules.map((name) => ({ name, message: `Write node:${name}.` }));

const realTime = [
  { name: 'setTimeout', message: 'Time goes through a scheduler.' },
  { name: 'setInterval', message: 'Time goes through a scheduler.' },
  { name: 'performance', message: 'Time goes through a scheduler.' },
];

export default tseslint.config(
  { ignores: ['dist', 'dist.*', 'executable', 'coverage', 'api', 'src/shared/proto'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [
      tseslint.configs.strictTypeChecked,
      tseslint.configs.stylisticTypeChecked,
      rxjsX.configs.strict,
    ],
  },
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      'no-restricted-imports': ['error', { paths: bare }],
      'no-useless-rename': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'rxjs-x/finnish': [
        'error',
        {
          functions: false,
          methods: false,
          parameters: true,
          properties: true,
          objects: false,
          variables: true,
          names: { '^source$': false, '^interpret$': false, '^handler$': false, '^read$': false },
        },
      ],
      'rxjs-x/no-nested-subscribe': 'error',
      'rxjs-x/no-unsafe-takeuntil': 'error',
      'rxjs-x/no-ignored-takewhile-value': 'error',
      'rxjs-x/no-sharereplay': ['error', { allowConfig: true }],
      'rxjs-x/no-exposed-subjects': 'error',
    },
  },
  {
    files: ['src/**'],
    plugins: {
      local: { rules: { 'named-arguments': namedArguments, 'outside-names': outsideNames } },
    },
    rules: { 'local/named-arguments': 'error', 'local/outside-names': 'error' },
  },
  {
    files: ['src/**'],
    plugins: {
      plain: { rules: { comments: plainComments, strings: plainStrings, names: sayingNames } },
    },
    rules: { 'plain/comments': 'error', 'plain/strings': 'error', 'plain/names': 'error' },
  },
  {
    files: ['bench/**', 'demo/**', 'scripts/**', 'test/**'],
    plugins: { plain: { rules: { comments: plainComments, names: sayingNames } } },
    rules: { 'plain/comments': 'error', 'plain/names': 'error' },
  },
  {
    files: ['src/epochs/**', 'src/pilot-discovery/{environment,generate}/**'],
    plugins: { pure: { rules: { 'given-values': givenValues } } },
    rules: { 'pure/given-values': 'error' },
  },
  {
    files: ['src/**'],
    ignores: ['src/shared/text/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...['ImportSpecifier[imported', 'MemberExpression[property', 'Property[key'].map(
          (where) => ({
            selector: `${where}.name=/^(parseAllDocuments|parseDocument|Composer|Parser)$/]`,
            message:
              'A text goes through parseYaml of src/shared/text, which counts its levels before.',
          }),
        ),
        {
          selector: 'MemberExpression[object.name="JSON"][property.name="parse"]',
          message:
            'A text goes through parseJson of src/shared/text, which counts its levels before.',
        },
        {
          selector:
            'VariableDeclarator[init.name="JSON"], MemberExpression[object.name="JSON"][computed=true]',
          message:
            'A text goes through parseJson of src/shared/text, which counts its levels before.',
        },
      ],
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/pilot-agent/cli/**'],
    rules: {
      'no-restricted-globals': ['error', ...realTime],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Time goes through a scheduler.' },
      ],
      'no-restricted-imports': [
        'error',
        { paths: [...bare, 'node:timers', 'node:timers/promises'] },
      ],
    },
  },
);
