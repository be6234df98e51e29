/**
 * The contracts of the ports as tests for your own, and what such tests need: a clock, a channel, a request.
 *
 * @module sallyport/testing
 */
export { type ChannelCapabilities, type ChannelContractOptions, channelContract } from './testing/channel-contract.ts'
export type { ChannelTrial, ProviderBehaviours, ReceivedMessage } from './testing/channel-trial.ts'
export type { ContractOptions, RegisterTest, StoreCapabilities, StoreTrial } from './testing/contract.ts'
export { type DispatchStoreContractOptions, dispatchStoreContract } from './testing/dispatch-store-contract.ts'
export { type DocumentsContractOptions, type DocumentsTrial, documentsContract } from './testing/documents-contract.ts'
export { type FakeClock, fakeClock } from './testing/fake-clock.ts'
export {
  type QueueCapabilities,
  type QueueContractOptions,
  type QueueTrial,
  queueContract,
} from './testing/queue-contract.ts'
export {
  type RecordedMessage,
  type RecordingChannel,
  recordingChannel,
  type ScriptedOutcome,
} from './testing/recording-channel.ts'
export { type RunStoreContractOptions, runStoreContract } from './testing/run-store-contract.ts'
export { type TestRequest, type TestRequestParts, testRequest } from './testing/test-request.ts'
