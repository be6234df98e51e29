import { ignoringErrors, type Members, untypedMembers } from './untyped.ts'

/** Longest buffered JSON text or event, in UTF-16 units. Longer ones are skipped. */
const MAX_BUFFERED = 4 * 1024 * 1024

export interface JsonFeed {
  write(bytes: Uint8Array): void
  end(): void
}

/** @param isStreamed `true`: server-sent events, each with its `data` on one line. `false`: one JSON text, parsed at its end. */
export function jsonFeed(isStreamed: boolean, each: (value: Members) => void): JsonFeed {
  const decoder = new TextDecoder()
  let buffer = ''
  let isTooLong = false
  const parse = (text: string): void => ignoringErrors(() => each(untypedMembers(JSON.parse(text))))
  // Reads the buffer only when it is complete: until then engines concatenate without a copy.
  const append = (text: string): void => {
    isTooLong ||= buffer.length + text.length > MAX_BUFFERED
    buffer = isTooLong ? '' : buffer + text
  }
  const flush = (): void => {
    const text = buffer
    buffer = ''
    isTooLong = false
    if (!isStreamed) parse(text)
    else if (text.startsWith('data:')) parse(text.slice('data:'.length))
  }
  return {
    write(bytes) {
      const text = decoder.decode(bytes, { stream: true })
      const [first = '', ...lines] = isStreamed ? text.split('\n') : [text]
      append(first)
      for (const line of lines) {
        flush()
        append(line)
      }
    },
    end: flush,
  }
}
