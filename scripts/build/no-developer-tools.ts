// Stands in the bundle for react-devtools-core, which Ink imports only where it is
// installed beside the program.
// biome-ignore lint/style/noDefaultExport: the shape of the package
export default { initialize(): void {}, connectToDevTools(): void {} };
