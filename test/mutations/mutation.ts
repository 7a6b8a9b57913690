// One way to break the product that the tests must notice.

/** The text `find` in `file` is replaced in memory while the tests run. */
export interface Mutation {
  /**
   * Short and stable, so that one mutation can be run alone: `npm run test:extra --
   * mutations rule-ceiling-wrong-count`.
   */
  readonly id: string;
  /** Path from the root of the repository, with forward slashes. */
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What a user would suffer if this defect went unnoticed. */
  readonly why: string;
}

/** By file and id: both are said once. */
type Grouped = Readonly<
  Record<string, Readonly<Record<string, Omit<Mutation, 'id' | 'file'>>>>
>;

export function mutationsOf(files: Grouped): Mutation[] {
  return Object.entries(files).flatMap(([file, byId]) =>
    Object.entries(byId).map(([id, mutation]) => ({ id, file, ...mutation })),
  );
}
