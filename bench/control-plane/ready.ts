import { type ApiCase, compare } from "./api-case.ts";

const TARGET = { of: "value", median: 700 } as const;

/** How long a start takes: on an empty directory, and on what that start left. */
export const apiReady: ApiCase = async (context) => {
  const { programs, sizes, signal, progress } = context;
  const cold: number[][] = programs.map(() => []);
  const warm: number[][] = programs.map(() => []);
  for (let start = 1; start <= sizes.apiStarts; start++) {
    for (const [index, program] of programs.entries()) {
      progress(`${program.name}, ${start} of ${sizes.apiStarts}`);
      const directory = await context.makeDirectory();
      for (const times of [cold[index], warm[index]]) {
        const server = await program.start(directory, signal);
        times?.push(server.readyAfterMs);
        await server.stop();
      }
    }
  }
  return [
    compare(context, { case: "api-ready", name: "process started → /readyz, new", target: TARGET, values: cold }),
    compare(context, { case: "api-ready", name: "process started → /readyz, again", target: TARGET, values: warm }),
  ];
};
