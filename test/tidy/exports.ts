import ts from "typescript";
import { lineOf, type Source } from "./source.ts";

/** One name that a source exports. */
interface ExportedName {
  name: string;
  line: number;
  /** An interface or a type alias: gone at run time. */
  isType: boolean;
  /** A function, class or interface. Constants and type aliases often say it all themselves. */
  needsDoc: boolean;
  hasDoc: boolean;
  /** Declared here, and not passed on by an export clause. */
  isDefinition: boolean;
}

/** What a source exports by name; `export * from` is a use of the other file and exports nothing of its own. */
export function exportsOf(source: Source): ExportedName[] {
  return source.ast.statements.flatMap((statement): ExportedName[] => {
    if (ts.isExportDeclaration(statement)) return exportedByClause(statement, source);
    if (!ts.canHaveModifiers(statement) || !isExported(statement)) return [];
    const shared = {
      line: lineOf(source.ast, statement.getStart(source.ast)),
      hasDoc: hasDocComment(statement) || hasDocumentedMember(statement),
      isDefinition: true,
    };
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map((declaration) => ({
        ...shared,
        name: declaration.name.getText(source.ast),
        isType: false,
        needsDoc: declaration.initializer !== undefined && ts.isFunctionLike(declaration.initializer),
      }));
    }
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    const isCallable = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
    if (!isType && !isCallable) return [];
    const name = statement.name?.text ?? "default";
    return [{ ...shared, name, isType, needsDoc: !ts.isTypeAliasDeclaration(statement) }];
  });
}

function exportedByClause(statement: ts.ExportDeclaration, source: Source): ExportedName[] {
  if (!statement.exportClause || !ts.isNamedExports(statement.exportClause)) return [];
  return statement.exportClause.elements.map((element) => ({
    name: element.name.text,
    line: lineOf(source.ast, element.getStart(source.ast)),
    isType: statement.isTypeOnly || element.isTypeOnly,
    needsDoc: false,
    hasDoc: false,
    isDefinition: false,
  }));
}

/** The interfaces of a source, exported or not, that say what they mean: above them or at a member. */
export function documentedInterfaces(source: Source): Set<string> {
  const interfaces = source.ast.statements.filter(ts.isInterfaceDeclaration);
  return new Set(
    interfaces.filter((one) => hasDocComment(one) || hasDocumentedMember(one)).map(({ name }) => name.text),
  );
}

function isExported(statement: ts.HasModifiers): boolean {
  return ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

function hasDocComment(node: ts.Node): boolean {
  return ts.getJSDocCommentsAndTags(node).length > 0;
}

/** The interface says what it means at its members, which for options and records is where a reader looks. */
function hasDocumentedMember(statement: ts.Statement): boolean {
  return ts.isInterfaceDeclaration(statement) && statement.members.some(hasDocComment);
}
