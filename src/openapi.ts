/** The endpoints as an OpenAPI document. @module */
export {}
