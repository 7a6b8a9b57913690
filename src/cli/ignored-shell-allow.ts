// Said by `run`, which leaves it out, and by `config`, which shows it: a repository must not grant itself commands.

export const ignoredShellAllow =
  'tools.shellAllow in the project’s untildone.json is ignored; allow commands in your user file or with --tools-shell-allow.';
