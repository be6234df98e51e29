import { inspect } from 'node:util'

/** What a part of a host may throw that holds a secret: by where in it that stands. */
export const THROWN: Readonly<Record<string, (secret: string) => unknown>> = {
  'an error that says it everywhere': (secret) =>
    Object.assign(new Error(secret, { cause: new Error(secret) }), {
      stack: `Error: ${secret}\n    at ${secret}`,
      detail: `Key (email)=(${secret}) already exists.`,
      response: { body: secret, headers: { authorization: secret } },
      [secret]: secret,
    }),
  'an error whose name says it': (secret) =>
    Object.assign(new Error('no'), { name: `No mail to ${secret}@example.com` }),
  'an error whose code says it': (secret) =>
    Object.assign(new Error('no'), { code: `Key (email)=(${secret}@example.com)` }),
  'an error whose name and code are objects that say it': (secret) =>
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

/** The stack first: it is made of the name and the message when it is first looked at. */
const MEMBERS = ['stack', 'name', 'message', 'code', 'cause', 'then', Symbol.for('sallyport.error')]

function withGetters(on: object, secret: string): object {
  const get = (): never => {
    throw new Error(secret)
  }
  for (const member of MEMBERS) Object.defineProperty(on, member, { get, configurable: true })
  return on
}
