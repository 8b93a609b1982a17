export { at } from './at.ts';
export { drawAgent, type DrawnAgent, type DrawnSource, type Drawing } from './draw-agent.ts';
export { fakeProxy } from './fake-proxy.ts';
export { answerTime, exits, type Script } from './fake-script.ts';
export { marbles } from './marbles.ts';
export { play } from './play.ts';
export { readingOf } from './reading.ts';
export { type DrawnInputs, scriptedAgent, serving, type Settings } from './scripted-agent.ts';
export { sourceContract, type SourcePromise, type SourceStage } from './source-contract.ts';
