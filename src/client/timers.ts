/** Timers of the runtime. They keep the process alive. */
export const timers = {
  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
