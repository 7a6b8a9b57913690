// What the model knows of its todos: titles, states and ids as the conversation showed them. It is the model's view,
// which may be wrong or out of date, and never the product's record.

export type TodoStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled' | 'blocked';

export interface KnownTodo {
  /** Unknown until a tool result named it; whole-list tools may never do so. */
  readonly id?: string;
  readonly title: string;
  readonly status: TodoStatus;
}

export type KnownTodos = readonly KnownTodo[];

export function isOpen(todo: KnownTodo): boolean {
  return todo.status === 'pending' || todo.status === 'in_progress';
}

export function normalised(title: string): string {
  return title.trim().replace(/\s+/g, ' ').toLowerCase();
}

/** By id, by title, by part of the title; open todos before settled ones. */
export function findTodo(todos: KnownTodos, reference: string): KnownTodo | undefined {
  const wanted = normalised(reference);
  const ordered = [...todos.filter(isOpen), ...todos.filter((todo) => !isOpen(todo))];
  return (
    ordered.find((todo) => todo.id === reference) ??
    ordered.find((todo) => normalised(todo.title) === wanted) ??
    ordered.find((todo) => normalised(todo.title).includes(wanted))
  );
}

export function nextOpen(todos: KnownTodos): KnownTodo | undefined {
  return todos.find((todo) => todo.status === 'in_progress') ?? todos.find(isOpen);
}

/** The open todo that a text names first, by title or by id. */
export function firstNamed(todos: KnownTodos, text: string): KnownTodo | undefined {
  const haystack = normalised(text);
  const places = todos.filter(isOpen).map((todo) => {
    const byTitle = haystack.indexOf(normalised(todo.title));
    const byId = todo.id === undefined || todo.id.length < 4 ? -1 : haystack.indexOf(todo.id.toLowerCase());
    const found = [byTitle, byId].filter((place) => place >= 0);
    return { todo, place: found.length > 0 ? Math.min(...found) : Number.POSITIVE_INFINITY };
  });
  const first = places.reduce<(typeof places)[number] | undefined>(
    (best, next) => (next.place < (best?.place ?? Number.POSITIVE_INFINITY) ? next : best),
    undefined,
  );
  return first?.todo;
}

export function withStatus(todos: KnownTodos, changed: KnownTodo, status: TodoStatus): KnownTodos {
  return todos.map((todo) => (todo === changed ? { ...todo, status } : todo));
}

/** Adds what is new and brings what is known up to date; ids, once seen, stay. */
export function merged(todos: KnownTodos, seen: KnownTodos): KnownTodos {
  const result = [...todos];
  for (const entry of seen) {
    const at = result.findIndex(
      (todo) =>
        (todo.id !== undefined && todo.id === entry.id) ||
        ((todo.id === undefined || entry.id === undefined) &&
          normalised(todo.title) === normalised(entry.title)),
    );
    if (at < 0) result.push(entry);
    else result[at] = { ...result[at], ...entry };
  }
  return result;
}
