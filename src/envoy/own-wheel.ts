import { pinnedEnvoy } from './pinned-envoy.ts';

/** The pinned wheel for this machine. Throws an `Error` with one line for the user where no wheel of Envoy can run. */
export function ownWheel(): (typeof pinnedEnvoy.wheels)[keyof typeof pinnedEnvoy.wheels] {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  if (process.platform !== 'linux' || header.glibcVersionRuntime === undefined) {
    throw new Error(
      `cannot install Envoy: its wheel is for Linux with glibc, and this is ${process.platform === 'linux' ? 'another libc' : process.platform}`,
    );
  }
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    throw new Error(`cannot install Envoy: its wheel is for x64 and arm64, and this CPU is ${process.arch}`);
  return pinnedEnvoy.wheels[process.arch];
}
