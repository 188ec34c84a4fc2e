//! The modules of a crate as its source has them: which names each defines and imports, and which others it refers to. Code for tests is
//! left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, GenericArgument, Item, ItemMod, Meta, Type, UseTree,
    visit::{self, Visit},
};

/// Names from the crate's root to a module.
pub(crate) type ModulePath = Vec<String>;

/// All modules of a crate, by their paths; the root has an empty one.
pub(crate) struct Modules(BTreeMap<ModulePath, Module>);

/// One module.
#[derive(Default)]
pub(crate) struct Module {
    pub(crate) file: PathBuf,
    /// Names that it defines, other than modules.
    items: BTreeSet<String>,
    /// Names that it imports, each with what it stands for.
    imports: Vec<(String, Vec<String>)>,
    /// Modules all of whose names it imports.
    globs: Vec<Vec<String>>,
    /// Each path that it writes, imports among them.
    pub(crate) paths: BTreeSet<Vec<String>>,
    /// Each name in it, wherever it stands.
    pub(crate) names: BTreeSet<String>,
    /// Each literal text in it, other than in macros.
    pub(crate) texts: BTreeSet<String>,
    children: BTreeSet<String>,
    /// Whether it asks a spec or a result for those of one probe: `spec.of::<PathSpec>()`, or the same with an inferred type.
    pub(crate) asks_for_one_probe: bool,
}

impl Module {
    /// Whether it declares a module of this name.
    pub(crate) fn has_child(&self, name: &str) -> bool {
        self.children.contains(name)
    }
}

impl Modules {
    /// Modules of the crate whose root is this file.
    pub(crate) fn of(root: &Path) -> Self {
        let mut modules = Self(BTreeMap::new());
        let folder = root.parent().expect("a file is in a folder");
        modules.read(root, folder, Vec::new());
        modules
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&ModulePath, &Module)> {
        self.0.iter()
    }

    /// Reads a file; `folder` is where the files of its modules are.
    fn read(&mut self, file: &Path, folder: &Path, path: ModulePath) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(file, folder, path, &parsed.items);
    }

    fn add(&mut self, file: &Path, folder: &Path, path: ModulePath, items: &[Item]) {
        let mut reader = Reader { module: Module { file: file.to_owned(), ..Module::default() }, children: Vec::new() };
        items.iter().for_each(|item| reader.visit_item(item));
        let Reader { module, children } = reader;
        self.0.insert(path.clone(), module);
        for child in children {
            let name = child.ident.to_string();
            let (below, path) = (folder.join(&name), [path.clone(), vec![name.clone()]].concat());
            match &child.content {
                Some((_, items)) => self.add(file, &below, path, items),
                None => {
                    let beside = folder.join(format!("{name}.rs"));
                    let file = if beside.exists() { beside } else { below.join("mod.rs") };
                    self.read(&file, &below, path);
                }
            }
        }
    }

    /// The modules that define what this path stands for, as it is written in the module `from`; empty where that is another crate's.
    pub(crate) fn definers(&self, from: &ModulePath, path: &[String]) -> BTreeSet<ModulePath> {
        self.resolve(from, path, 0)
    }

    fn resolve(&self, from: &ModulePath, path: &[String], depth: usize) -> BTreeSet<ModulePath> {
        let Some((first, rest)) = path.split_first() else { return BTreeSet::from([from.clone()]) };
        // Imports that import each other.
        if depth > 20 {
            return BTreeSet::new();
        }
        match first.as_str() {
            "crate" => return self.resolve(&Vec::new(), rest, depth + 1),
            "self" => return self.resolve(from, rest, depth + 1),
            "super" => return self.resolve(&from[..from.len().saturating_sub(1)].to_vec(), rest, depth + 1),
            _ => {}
        }
        let Some(module) = self.0.get(from) else { return BTreeSet::new() };
        let child = [from.clone(), vec![first.clone()]].concat();
        let mut found = BTreeSet::new();
        if self.0.contains_key(&child) {
            found.extend(self.resolve(&child, rest, depth + 1));
        }
        // Type, function, constant: what comes behind it belongs to it.
        if module.items.contains(first) && (rest.is_empty() || found.is_empty()) {
            found.insert(from.clone());
        }
        for (_, means) in module.imports.iter().filter(|(name, _)| name == first) {
            let whole = [means.as_slice(), rest].concat();
            // A name of another crate's that is imported under itself.
            if means.as_slice() != std::slice::from_ref(first) {
                found.extend(self.resolve(from, &whole, depth + 1));
            }
        }
        if found.is_empty() {
            for glob in &module.globs {
                for source in self.resolve(from, glob, depth + 1) {
                    if source != *from {
                        found.extend(self.resolve(&source, path, depth + 1));
                    }
                }
            }
        }
        found
    }
}

/// Goes through the items of one module, but not into the modules in it.
struct Reader {
    module: Module,
    children: Vec<ItemMod>,
}

impl Reader {
    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(&path.ident)),
            UseTree::Name(name) if name.ident == "self" => {
                let last = before.last().cloned().unwrap_or_default();
                self.add_import(last, before.to_vec());
            }
            UseTree::Name(name) => self.add_import(name.ident.to_string(), with(&name.ident)),
            UseTree::Rename(rename) => self.add_import(rename.rename.to_string(), with(&rename.ident)),
            UseTree::Glob(_) => {
                self.module.paths.insert(before.to_vec());
                self.module.globs.push(before.to_vec());
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
        }
    }

    fn add_import(&mut self, name: String, means: Vec<String>) {
        self.module.names.extend(means.last().cloned());
        self.module.paths.insert(means.clone());
        self.module.imports.push((name, means));
    }

    /// Macro calls are not parsed: what looks like a path is taken for one.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add_path(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    self.module.names.insert(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.add_path(std::mem::take(&mut path));
                    colons = 0;
                    self.tokens(group.stream());
                }
                _ => {
                    self.add_path(std::mem::take(&mut path));
                    colons = 0;
                }
            }
        }
        self.add_path(path);
    }

    fn add_path(&mut self, path: Vec<String>) {
        if !path.is_empty() {
            self.module.paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = head(item);
        if is_for_tests(attributes) {
            return;
        }
        match item {
            Item::Mod(module) => {
                self.module.children.insert(module.ident.to_string());
                self.children.push(module.clone());
            }
            Item::Use(import) => {
                if import.leading_colon.is_none() {
                    self.import(&import.tree, &[]);
                }
            }
            _ => {
                self.module.items.extend(name);
                visit::visit_item(self, item);
            }
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes: &[Attribute] = match item {
            syn::ImplItem::Fn(function) => &function.attrs,
            syn::ImplItem::Const(constant) => &constant.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let names_one = |kind: &GenericArgument| match kind {
            GenericArgument::Type(Type::Path(kind)) => {
                kind.path.segments.last().is_some_and(|name| name.ident.to_string().ends_with("Spec"))
            }
            _ => false,
        };
        let is_of_one = call.turbofish.as_ref().is_none_or(|kinds| kinds.args.iter().any(names_one));
        self.module.asks_for_one_probe |= call.method == "of" && call.args.is_empty() && is_of_one;
        visit::visit_expr_method_call(self, call);
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.module.texts.insert(text.value());
    }

    fn visit_ident(&mut self, name: &'ast syn::Ident) {
        self.module.names.insert(name.to_string());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.add_path(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }
}

/// Attributes of an item, and the name that it defines.
fn head(item: &Item) -> (&[Attribute], Option<String>) {
    let named = |ident: &syn::Ident| Some(ident.to_string());
    match item {
        Item::Const(it) => (&it.attrs, named(&it.ident)),
        Item::Enum(it) => (&it.attrs, named(&it.ident)),
        Item::Fn(it) => (&it.attrs, named(&it.sig.ident)),
        Item::Impl(it) => (&it.attrs, None),
        Item::Macro(it) => (&it.attrs, it.ident.as_ref().map(ToString::to_string)),
        Item::Mod(it) => (&it.attrs, None),
        Item::Static(it) => (&it.attrs, named(&it.ident)),
        Item::Struct(it) => (&it.attrs, named(&it.ident)),
        Item::Trait(it) => (&it.attrs, named(&it.ident)),
        Item::Type(it) => (&it.attrs, named(&it.ident)),
        Item::Union(it) => (&it.attrs, named(&it.ident)),
        Item::Use(it) => (&it.attrs, None),
        _ => (&[], None),
    }
}

/// `#[cfg(test)]`, also with more in it, `#[test]`, and what only tests of other crates see.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let said = list.tokens.to_string();
            !said.starts_with("not")
                && said.split(|c: char| !c.is_alphanumeric()).any(|word| ["test", "fixture"].contains(&word))
        }
        _ => false,
    })
}
