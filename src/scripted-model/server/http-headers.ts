// Headers as Node gives them, described by shape: published declarations must not need Node's own types.

export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;
