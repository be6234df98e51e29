import type { Awaitable } from './awaitable.ts'

/** HMAC with SHA-256 of a text's UTF-8 bytes under one key, as base64url: 43 characters. */
export type Hmac = (text: string) => Awaitable<string>
