/** The part that is used. */
declare module 'cloudflare:workers' {
  export const env: Readonly<Record<string, string>>
}
