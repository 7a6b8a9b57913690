// Stands in for what the MCP package would check inputs with by default. Our tools read
// their input themselves and hand it a validator of ours; a server that is made without
// one is a mistake.
import process from 'node:process';

export { process };

export class DefaultJsonSchemaValidator {
  constructor() {
    throw new Error(
      'The JSON Schema validator of the MCP package is not part of untildone.',
    );
  }
}
