/** One hostile operation. */
export type Act = () => unknown

/** Prepares an operation with this share of the maximum size. The preparation is not measured. */
export type LoopCase = (share: number) => Act | Promise<Act>

export type LoopCases = Readonly<Record<string, LoopCase>>
