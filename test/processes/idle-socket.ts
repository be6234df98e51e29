import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection that sends this text and nothing more. Resolves once it is sent. */
export async function idleSocket(port: number, text = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  if (text !== '') await new Promise((resolve) => socket.write(text, resolve))
  return socket
}

/** A connection with one answered request and no next one. */
export async function answeredSocket(port: number): Promise<Socket> {
  const socket = await idleSocket(port, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(socket, 'data')
  return socket.resume()
}
