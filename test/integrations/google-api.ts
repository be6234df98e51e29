/** Answers of Google's Gemini API, with the fields that its client reads. */

const USAGE = {
  ...{ promptTokenCount: 90, toolUsePromptTokenCount: 10, cachedContentTokenCount: 40 },
  ...{ candidatesTokenCount: 15, thoughtsTokenCount: 5, totalTokenCount: 120 },
}

/** The counts of a run after one call. The tokens of tool use are input, those of thoughts are output. */
export const GOOGLE_COUNTS = {
  inputTokens: 100,
  cacheReadTokens: 40,
  outputTokens: 20,
  reasoningTokens: 5,
  modelCalls: 1,
} as const

interface Part {
  readonly text?: string
  readonly functionCall?: { readonly name: string; readonly args: object }
}

/** An answer with one candidate. */
export function content(...parts: readonly Part[]): object {
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    ...{ usageMetadata: USAGE, modelVersion: 'gemini-2.5-flash-001', responseId: 'r1' },
  }
}

/** The events of a streamed answer: the counts grow, and the finish reason comes last. */
export function contentEvents(text: string): object[] {
  const { promptTokenCount, cachedContentTokenCount } = USAGE
  return [...text].map((letter, index) => ({
    ...content({ text: letter }),
    ...(index < text.length - 1 && {
      candidates: [{ content: { role: 'model', parts: [{ text: letter }] }, index: 0 }],
      usageMetadata: { promptTokenCount, cachedContentTokenCount, totalTokenCount: promptTokenCount },
    }),
  }))
}
