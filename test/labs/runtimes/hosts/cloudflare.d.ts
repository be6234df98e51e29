/** As much of it as is used. */
declare module 'cloudflare:workers' {
  export const env: Readonly<Record<string, string>>
}
