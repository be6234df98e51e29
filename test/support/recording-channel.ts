import {
  type RecordingChannel,
  recordingChannel as recordingEverything,
  type ScriptedOutcome,
} from '../../src/contract-tests/recording-channel.ts'
import type { Channel } from '../../src/ports/channel.ts'

export type { RecordingChannel }

/** A recording channel that reaches only recipients with a mail address. */
export function recordingChannel(outcomes?: readonly ScriptedOutcome[], rest: Partial<Channel> = {}): RecordingChannel {
  return recordingEverything(outcomes, { address: ({ email }) => email, ...rest })
}
