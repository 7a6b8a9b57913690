import { z } from 'zod';
import type { Session } from '../../session/session.ts';
/** Which todo list is the plan, and whether other tools are watched. */
export interface MiddlewareOptions {
    /**
     * `ours`: our todo tools, the default. `theirs`: the plan is the list of
     * `todoListMiddleware()`, and of our tools the agent only gets list, pause and verify.
     */
    readonly list?: 'ours' | 'theirs';
    /** Reports the calls of all other tools: they tell work from talk. */
    readonly watch?: boolean;
}
/**
 * `createAgent({ model, tools, middleware: [untilDone(session)] })`; raise the
 * `recursionLimit` of its calls.
 */
export declare function untilDone(session: Session, options?: MiddlewareOptions): import("langchain").AgentMiddleware<z.ZodObject<{
    todos: z.ZodOptional<z.ZodArray<z.ZodObject<{
        content: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
}, z.core.$strip>, undefined, unknown, import("langchain").DynamicStructuredTool<{
    readonly '~standard': {
        readonly version: 1;
        readonly vendor: 'untildone';
        validate(value: unknown): {
            readonly value: unknown;
        };
        readonly jsonSchema: {
            input(): Record<string, unknown>;
            output(): Record<string, unknown>;
        };
    };
    readonly type: 'object';
}, unknown, unknown, string, unknown, string>[], readonly []>;
