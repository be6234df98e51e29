/**
 * Contract tests for your implementations of the ports, with a clock, a channel and a request for tests.
 * @module sallyport/testing
 */
export { type ChannelCapabilities, type ChannelContractOptions, channelContract } from './channel-contract.ts'
export type { ChannelTrial, ProviderBehaviours, ReceivedMessage } from './channel-trial.ts'
export type { ContractOptions, RegisterTest, StoreCapabilities, StoreTrial } from './contract.ts'
export { type DispatchStoreContractOptions, dispatchStoreContract } from './dispatch-store-contract.ts'
export { type DocumentsContractOptions, type DocumentsTrial, documentsContract } from './documents-contract.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export {
  type FeedbackSourceCapabilities,
  type FeedbackSourceContractOptions,
  type FeedbackTrial,
  feedbackSourceContract,
} from './feedback-source-contract.ts'
export { type QueueContractOptions, queueContract } from './queue-contract.ts'
export type { QueueCapabilities, QueueTrial } from './queue-trial.ts'
export type { RecordStoreTrial } from './record-store/record-harness.ts'
export { type RecordStoreContractOptions, recordStoreContract } from './record-store-contract.ts'
export {
  type RecordedMessage,
  type RecordingChannel,
  recordingChannel,
  type ScriptedOutcome,
} from './recording-channel.ts'
export { type RecordsContractOptions, type RecordsTrial, recordsContract } from './records-contract.ts'
export { type RevocationStoreContractOptions, revocationStoreContract } from './revocation-store-contract.ts'
export { type RunStoreContractOptions, runStoreContract } from './run-store-contract.ts'
export { type TestRequest, type TestRequestParts, testRequest } from './test-request.ts'
