/** What is used of an `IncomingMessage`. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly rawHeaders: readonly string[]
  readonly httpVersionMajor: number
  readonly complete: boolean
  readonly destroyed: boolean
  readonly readableEnded: boolean
  readonly readableDidRead: boolean
  readonly readableLength: number
  /** Absent in requests that were made for a test, without a connection. */
  readonly socket?: { readonly destroyed: boolean } | null
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: string, listener: () => void): unknown
  read(): Uint8Array | string | null
  pause(): unknown
  resume(): unknown
}

/** What is used of a `ServerResponse`. */
export interface NodeResponse {
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  writeHead(status: number, headers: Record<string, string | number>): unknown
  write(text: string): unknown
  end(): unknown
  end(text: string): unknown
  destroy(): unknown
}
