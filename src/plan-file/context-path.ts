// The context of a nested todo: the titles of the items above it, outermost first.

/** A text for people: titles of fifty levels would grow with every level. */
const longestPath = 1_000;

/** @param path '' at the top */
export function extendPath(path: string, title: string): string {
  const longer = [path, title].filter((part) => part !== '').join(' › ');
  return longer.length > longestPath ? path : longer;
}
