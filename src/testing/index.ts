export { at } from './at.ts';
export { drawAgent, type DrawnAgent, type DrawnSource, type Drawing } from './draw-agent.ts';
export { answerTime, exits, fakeProxy, type Script } from './fake-proxy.ts';
export { marbles } from './marbles.ts';
export { play } from './play.ts';
export { readingOf } from './reading.ts';
export { type DrawnInputs, scriptedAgent, serving, type Settings } from './scripted-agent.ts';
export { sourceContract, type SourcePromise, type SourceStage } from './source-contract.ts';
