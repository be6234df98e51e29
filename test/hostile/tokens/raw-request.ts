import { once } from 'node:events'
import { connect } from 'node:net'
import type { HandlerRequest } from '../../../src/core/answers/result.ts'
import type { Seen } from './asking.ts'

/** Posts a request as raw bytes on a connection of its own, as no client would send it. */
export async function rawPost(port: number, path: string, { headers, query, body }: HandlerRequest): Promise<Seen> {
  const content = JSON.stringify(body)
  const search = query === undefined ? '' : `?${new URLSearchParams(query as Record<string, string>)}`
  const head = [
    `POST ${path}${search} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(content)}`,
    ...Object.entries(headers).flatMap(([name, value = []]) => [value].flat().map((line) => `${name}: ${line}`)),
  ]
  const socket = connect({ port, host: '127.0.0.1' })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(`${head.join('\r\n')}\r\n\r\n${content}`)
  await once(socket, 'close')
  return parse(Buffer.concat(chunks).toString())
}

function parse(answer: string): Seen {
  const end = answer.indexOf('\r\n\r\n')
  const [first = '', ...lines] = answer.slice(0, end).split('\r\n')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers),
    text: answer.slice(end + 4),
  }
}
