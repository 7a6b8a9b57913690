import { type Agent, type NonStreamRunOptions } from '@openai/agents';
import type { Session } from '../../session/session.ts';
/** The todo tools, for the agent's `tools`. */
export declare function todoTools(session: Session): import("@openai/agents").FunctionTool<unknown, never, string>[];
/**
 * `const result = await untilDone(session, agent)` gives the result of the last run. Only
 * the limits of the session bound its turns, unless you set `maxTurns`. A run that waits
 * for an approval ends as `paused`.
 */
export declare function untilDone<Own extends Agent<any, any>>(session: Session, agent: Own, options?: NonStreamRunOptions<undefined, Own>): Promise<import("@openai/agents").RunResult<undefined, Own>>;
