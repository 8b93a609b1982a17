import { formattedPage } from '../support/write-page.ts';
import { deviations } from './deviations.ts';
import type { OwnVerdict } from './own-verdicts.ts';
import { answers, reportFile, type Verdicts } from './verdicts.ts';

/** Returns a page about all answers, in Markdown, as the formatter prints it. */
export async function report(
  verdicts: Verdicts,
  agentVerdicts: Readonly<Record<string, OwnVerdict>>,
): Promise<string> {
  const rows = answers.map(({ name }) => {
    const [go, agent] = [verdicts[name], agentVerdicts[name]];
    const scrape = `${agent?.scrape ?? ''}${agent?.reason === undefined ? '' : ` (${agent.reason})`}`;
    return `| ${name} | ${go?.probe ?? ''} | ${agent?.probe ?? ''} | ${go?.scrape ?? ''} | ${scrape} |`;
  });
  const text = `# Odd answers to probes and scrapes

What \`npm run probes\` has written. Each answer was given to Go's client, with the redirect rule of the kubelet, and to
the agent. A probe is the status that counts; a scrape is what came of its rows.

| Answer | Probe: Go | Agent | Scrape: Go | Agent |
| --- | ---: | ---: | --- | --- |
${rows.join('\n')}

## Where the agent differs, and why

${deviations.map(({ names, of: kinds, because }) => `- ${names.join('; ')} (${kinds.join(', ')}): ${because}.`).join('\n')}
`;
  return formattedPage(reportFile, text);
}
