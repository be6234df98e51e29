import * as platforms from './platform-shapes.ts'
import * as providers from './provider-shapes.ts'
import { type ShapeReader, shapeReader } from './shape.ts'

/** All shapes. Of several that find as much, the first counts. */
export const SHAPES: readonly ShapeReader[] = [
  platforms.cohereBilled,
  providers.gemini,
  providers.geminiCli,
  providers.geminiInteractions,
  // Gateways add Anthropic's cache to OpenAI's chat usage, whose prompt includes the cache.
  providers.openAIChat,
  providers.aiSdkProvider,
  providers.codex,
  providers.anthropic,
  providers.claudeCode,
  providers.openAIResponses,
  platforms.aiSdkAttributes,
  platforms.genAiAttributes,
  platforms.openInference,
  platforms.ollama,
  platforms.titan,
  platforms.bedrockLlama,
  platforms.watsonx,
  platforms.textGeneration,
  platforms.langfuse,
  platforms.openRouterGeneration,
  platforms.envoyMetadata,
  platforms.llamaCpp,
  platforms.cohereProcessed,
].map(shapeReader)
