// What `init` changes in a file, as plain values: kept in the record of an install, so that uninstalling knows exactly
// what was added. An edit adds; it never takes a person's own value away.

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Keys from the root of the document. */
export type KeyPath = readonly string[];

export type JsonEdit =
  /** A key with a value. A value that a person wrote stays, unless the key itself is `named` for us. */
  | { readonly kind: 'member'; readonly path: KeyPath; readonly value: Json; readonly named?: true }
  /** A value in the list at `path`. */
  | { readonly kind: 'entry'; readonly path: KeyPath; readonly value: string }
  /** An element of the list at `path` that carries a hook command of ours; it replaces every other one of ours. */
  | { readonly kind: 'hook'; readonly path: KeyPath; readonly value: Json }
  /** Our package in a list of packages, pinned to a version; it replaces every other pinned one. */
  | { readonly kind: 'package'; readonly path: KeyPath; readonly name: string; readonly version: string };

/** A line of a plain text file. */
export interface LineEdit {
  readonly kind: 'line';
  readonly text: string;
}

/** The whole text of a file that is ours alone. */
export interface WholeEdit {
  readonly kind: 'whole';
  readonly text: string;
}

export type Edit = JsonEdit | LineEdit | WholeEdit;

export type Edited =
  | {
      readonly ok: true;
      readonly text: string;
      /** Edits that met another value of a person's, which stays. */
      readonly kept: readonly Edit[];
    }
  /** `sentence` goes on after the name of the file: "is not …". */
  | { readonly ok: false; readonly sentence: string };
