import { ignoringErrors, type Members, untypedMembers } from './untyped.ts'

/** The most that is held of an answer, in UTF-16 units: of a whole one, or of one event. What is longer is passed over. */
const MAX_HELD = 4 * 1024 * 1024

/** Takes an answer's bytes as they come, and gives out the JSON in them. */
export interface JsonFeed {
  write(bytes: Uint8Array): void
  end(): void
}

/**
 * @param isStreamed Server-sent events, of which the `data` of each is given out; OpenAI and Anthropic have it on one line.
 * Otherwise one JSON text, which is given out at its end.
 */
export function jsonFeed(isStreamed: boolean, each: (value: Members) => void): JsonFeed {
  const decoder = new TextDecoder()
  let held = ''
  let isTooLong = false
  const give = (text: string): void => ignoringErrors(() => each(untypedMembers(JSON.parse(text))))
  // What is held is not looked at until it is whole: an engine joins pieces without copying all that came before.
  const hold = (text: string): void => {
    isTooLong ||= held.length + text.length > MAX_HELD
    held = isTooLong ? '' : held + text
  }
  /** Gives out what is held, which is whole now. */
  const release = (): void => {
    const text = held
    held = ''
    isTooLong = false
    if (!isStreamed) give(text)
    else if (text.startsWith('data:')) give(text.slice('data:'.length))
  }
  return {
    write(bytes) {
      const text = decoder.decode(bytes, { stream: true })
      const [first = '', ...lines] = isStreamed ? text.split('\n') : [text]
      hold(first)
      for (const line of lines) {
        release()
        hold(line)
      }
    },
    end: release,
  }
}
