import {
  type RecordingChannel,
  recordingChannel as recordingEverything,
  type ScriptedOutcome,
} from '../../src/contract-tests/recording-channel.ts'
import type { Channel } from '../../src/ports/channel.ts'

export type { RecordingChannel }

/** It reaches those who have a mail address, and nobody else. */
export function recordingChannel(outcomes?: readonly ScriptedOutcome[], rest: Partial<Channel> = {}): RecordingChannel {
  return recordingEverything(outcomes, { address: ({ email }) => email, ...rest })
}
