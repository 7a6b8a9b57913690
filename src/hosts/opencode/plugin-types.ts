// The shapes of OpenCode that the plugin relies on, described here so that the host's package is never imported. Only
// what is used stands here, and what comes from the host is read with care: a field may be missing.

/** What the host hands to a plugin. */
export interface PluginInputLike {
  readonly client: ClientLike;
  /** The folder that this instance of the host works in. */
  readonly directory: string;
}

/** A call of the host's own interface. It gives `error` instead of throwing, and may throw when the host goes down. */
export type ClientAnswer = Promise<{ readonly data?: unknown; readonly error?: unknown }>;

export interface PathOfSession {
  readonly path: { readonly id: string };
}

export interface TextPartLike {
  readonly id?: string;
  readonly type: 'text';
  readonly text: string;
  readonly synthetic?: boolean;
  readonly ignored?: boolean;
  readonly metadata?: Record<string, unknown>;
}

export interface PromptBodyLike {
  readonly messageID?: string;
  readonly agent?: string;
  readonly model?: { readonly providerID: string; readonly modelID: string };
  readonly variant?: string;
  readonly noReply?: boolean;
  readonly parts: TextPartLike[];
}

export interface ClientLike {
  readonly session: {
    get(request: PathOfSession): ClientAnswer;
    todo(request: PathOfSession): ClientAnswer;
    messages(request: PathOfSession & { readonly query?: { readonly limit?: number } }): ClientAnswer;
    status(): ClientAnswer;
    prompt(request: PathOfSession & { readonly body: PromptBodyLike }): ClientAnswer;
    promptAsync(request: PathOfSession & { readonly body: PromptBodyLike }): ClientAnswer;
    abort(request: PathOfSession): ClientAnswer;
  };
  readonly app: { agents(): ClientAnswer };
  readonly tui: {
    showToast(request: {
      readonly body: {
        readonly title?: string;
        readonly message: string;
        readonly variant: 'info' | 'success' | 'warning' | 'error';
        readonly duration?: number;
      };
    }): ClientAnswer;
  };
}

export interface ToolContextLike {
  readonly sessionID: string;
  readonly abort: { readonly aborted: boolean };
}

/** The host takes JSON Schema for each argument where it finds no schema object of its own library. */
export interface ToolDefinitionLike {
  readonly description: string;
  // biome-ignore lint/suspicious/noExplicitAny: the host's type wants its own schema objects here, and takes plain ones
  readonly args: any;
  // biome-ignore lint/suspicious/noExplicitAny: what the model sends is checked by the tool itself
  execute(args: any, context: ToolContextLike): Promise<string>;
}

export interface CommandLike {
  template: string;
  description?: string;
}

/** The host's settings, as far as they are read or extended. */
export interface ConfigLike {
  command?: Record<string, CommandLike>;
}

export interface HooksLike {
  dispose?: () => Promise<void>;
  event?: (input: { readonly event: unknown }) => Promise<void>;
  config?: (config: ConfigLike) => Promise<void>;
  tool?: Record<string, ToolDefinitionLike>;
  'chat.message'?: (
    input: { readonly sessionID: string },
    output: { readonly message: unknown; readonly parts: readonly unknown[] },
  ) => Promise<void>;
  'command.execute.before'?: (
    input: { readonly command: string; readonly sessionID: string; readonly arguments: string },
    output: unknown,
  ) => Promise<void>;
  'tool.execute.after'?: (
    input: { readonly tool: string; readonly sessionID: string; readonly callID: string },
    output: { output: string },
  ) => Promise<void>;
  'tool.definition'?: (input: { readonly toolID: string }, output: object) => Promise<void>;
  'experimental.chat.messages.transform'?: (
    input: object,
    output: { readonly messages: readonly unknown[] },
  ) => Promise<void>;
  'experimental.session.compacting'?: (
    input: { readonly sessionID: string },
    output: { readonly context: string[] },
  ) => Promise<void>;
  'experimental.text.complete'?: (
    input: { readonly sessionID: string; readonly messageID: string },
    output: { readonly text: string },
  ) => Promise<void>;
}

export type PluginLike = (input: PluginInputLike) => Promise<HooksLike>;
