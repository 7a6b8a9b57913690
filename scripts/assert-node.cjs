// Says in one sentence, instead of a syntax error, that this Node cannot run the sources:
// `npm ci` was forgotten, or the package `node` was kept from installing its program. It
// is for `npm start` and for Vitest, which are what people try first. Written for any
// Node there is (ES5, CommonJS), and it refuses to import anything.
if (!process.features.typescript) {
  process.stderr.write(
    'untildone runs from TypeScript sources, which Node ' +
      process.versions.node +
      ' cannot: run "npm ci", with install scripts allowed; it installs a Node that can, and "npm run" uses that one.\n',
  );
  process.exit(1);
}
