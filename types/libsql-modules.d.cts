/**
 * The declarations of libsql 0.5.29 import `./auth` and `./sqlite-error`, and its package lacks the declarations of these
 * two files. They stand here as the files are. Our own imports end in `.ts`, so that these patterns never match one.
 */
declare module "*/auth" {
  const Authorization: { readonly ALLOW: 0; readonly DENY: 1 };
  export = Authorization;
}

declare module "*/sqlite-error" {
  class SqliteError extends Error {
    constructor(message: string, code: string, rawCode?: number);
    readonly code: string;
    readonly rawCode: number | undefined;
  }
  export = SqliteError;
}
