/**
 * The JSON object in an answer's body, reading at most `limit` bytes of it; `undefined` when it is longer, is no JSON
 * object, or breaks off.
 */
export async function boundedJson(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (body === null) return undefined
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > limit) return undefined
      text += decoder.decode(chunk, { stream: true })
    }
    const value: unknown = JSON.parse(text + decoder.decode())
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
