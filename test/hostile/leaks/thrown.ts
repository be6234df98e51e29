import { inspect } from 'node:util'

/** Values that a part of a host may throw, each with a secret in another place. */
export const THROWN: Readonly<Record<string, (secret: string) => unknown>> = {
  'an error that holds it everywhere': (secret) =>
    Object.assign(new Error(secret, { cause: new Error(secret) }), {
      stack: `Error: ${secret}\n    at ${secret}`,
      detail: `Key (email)=(${secret}) already exists.`,
      response: { body: secret, headers: { authorization: secret } },
      [secret]: secret,
    }),
  'an error whose name holds it': (secret) =>
    Object.assign(new Error('no'), { name: `No mail to ${secret}@example.com` }),
  'an error whose code holds it': (secret) =>
    Object.assign(new Error('no'), { code: `Key (email)=(${secret}@example.com)` }),
  'an error whose name and code are objects that hold it': (secret) =>
    Object.assign(new Error('no'), { name: { toString: () => secret }, code: { toString: () => secret } }),
  'several errors in one': (secret) => new AggregateError([new Error(secret), secret], secret),
  'an error whose members throw it': (secret) => withGetters(new Error('no'), secret),
  'an object whose members throw it': (secret) => withGetters({}, secret),
  'an object that turns into it': (secret) => ({
    [Symbol.toPrimitive]: () => secret,
    [inspect.custom]: () => secret,
    toJSON: () => secret,
    toString: () => secret,
  }),
  'an object that throws when it is turned into anything': (secret) => {
    const fail = (): never => {
      throw new Error(secret)
    }
    return { [Symbol.toPrimitive]: fail, [inspect.custom]: fail, toJSON: fail, toString: fail }
  },
  'a proxy that throws at every touch': (secret) => {
    const fail = (): never => {
      throw new Error(secret)
    }
    return new Proxy(new Error(secret), { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail })
  },
  'a list': (secret) => [secret],
  'a text': (secret) => secret,
  'a symbol': (secret) => Symbol(secret),
  'a function of that name': (secret) => Object.defineProperty(() => {}, 'name', { value: secret }),
}

/** `stack` comes first: its first read builds it from the name and the message. */
const MEMBERS = ['stack', 'name', 'message', 'code', 'cause', 'then', Symbol.for('sallyport.error')]

function withGetters(on: object, secret: string): object {
  const get = (): never => {
    throw new Error(secret)
  }
  for (const member of MEMBERS) Object.defineProperty(on, member, { get, configurable: true })
  return on
}
