/**
 * The endpoints as an OpenAPI document.
 *
 * @module sallyport/openapi
 */
export type {
  OpenApiComponents,
  OpenApiDocument,
  OpenApiExample,
  OpenApiHeader,
  OpenApiMediaType,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiReference,
  OpenApiResponse,
  OpenApiSchema,
  OpenApiSecurityScheme,
  OpenApiServer,
} from './open-api-document.ts'
export { type OpenApiOptions, openapiDocument } from './openapi-document.ts'
