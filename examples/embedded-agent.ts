import { AgentFailure, pilotAgent } from 'pilot-agent';
import { distinctUntilChanged, map } from 'rxjs';
import { switches } from './own-source.ts';

const [config = 'envoy.json', folder = 'run', adminPort = '15000', statusPort = '15020'] =
  process.argv.slice(2);

const agent = pilotAgent({
  config: {
    customConfigFile: config,
    configPath: folder,
    proxyAdminPort: Number(adminPort),
    statusPort: Number(statusPort),
  },
  sources: [switches(`${folder}/../switches.json`)],
  envoy: 'install',
  log: ({ level, msg }) => {
    if (level === 'warn' || level === 'error') console.error(msg);
  },
});

const serving$ = agent.state$.pipe(
  map(({ epochs }) => [...epochs].findLast(([, { stage }]) => stage === 'live')?.[0]),
  distinctUntilChanged(),
);
serving$.subscribe({
  next: (epoch) => console.log(epoch === undefined ? 'nobody serves' : `epoch ${epoch} serves`),
  error: console.error, // state$ never errors
});

const end = new AbortController();
process.once('SIGTERM', () => end.abort());
try {
  await agent.run({ signal: end.signal });
  console.log('ended as asked');
} catch (error) {
  if (!(error instanceof AgentFailure)) throw error;
  const { code, reason, fix } = error;
  console.error(`${reason}: ${fix}`);
  process.exitCode = code;
}
