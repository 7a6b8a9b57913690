// Every npm script runs this first: on an old Node it ends with one sentence instead of a
// syntax error. Written for any Node there is (ES5, CommonJS), and it refuses to import
// anything.
var parts = process.versions.node.split('.');
var major = Number(parts[0]);
var minor = Number(parts[1]);

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(
    'untildone needs Node 22.13 or newer and this is ' +
      process.versions.node +
      ': run "npm ci", which installs the pinned Node, and start the script with "npm run" so that it is used.\n',
  );
  process.exit(1);
}
