import { type Members, membersOf } from './untyped.ts'

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
  const parse = (text: string): void => {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return
    }
    each(membersOf(value))
  }
  return {
    write(bytes) {
      held += decoder.decode(bytes, { stream: true })
      if (isStreamed) {
        const lines = held.split('\n')
        held = lines.pop() ?? ''
        for (const line of lines) {
          if (!isTooLong && line.startsWith('data:')) parse(line.slice('data:'.length))
          isTooLong = false
        }
      }
      isTooLong ||= held.length > MAX_HELD
      if (isTooLong) held = ''
    },
    end() {
      if (!isStreamed) parse(held)
    },
  }
}
