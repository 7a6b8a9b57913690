import { z } from 'zod';
import type { Session } from '../../session/session.ts';
/** Whose todo list it is, and whether other tools are seen. */
export interface MiddlewareOptions {
    /**
     * `theirs`: the plan is the list of `todoListMiddleware()`, and of our tools only list,
     * pause and verify are given.
     */
    readonly list?: 'ours' | 'theirs';
    /** Makes the calls of all other tools seen: work is told from talk by them. */
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
