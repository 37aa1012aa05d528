//! The types and constants of the ABI source, as C has them.

use std::collections::HashMap;

use crate::tags::Version;

/// A type as C spells it. A type that cannot cross the boundary is `Named` by nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CType {
    Void,
    /// A number or a type of the ABI, by its Rust name.
    Named(String),
    /// A pointer, with the access that it allows.
    Pointer(Box<CType>, Access),
    Array(Box<CType>, u64),
}

/// Access through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

impl CType {
    /// The type as a declaration without a name spells it: `const tnr_view *`, `int64_t[8]`.
    pub fn spelled(&self) -> String {
        match self {
            CType::Void => "void".to_owned(),
            CType::Named(name) => c_name(name).to_owned(),
            CType::Array(element, length) => format!("{}[{length}]", element.spelled()),
            CType::Pointer(to, access) => match (&**to, access) {
                (inner @ CType::Pointer(..), Access::Read) => format!("{}const *", inner.spelled()),
                (inner @ CType::Pointer(..), Access::Write) => format!("{}*", inner.spelled()),
                (inner, Access::Read) => format!("const {} *", inner.spelled()),
                (inner, Access::Write) => format!("{} *", inner.spelled()),
            },
        }
    }

    /// A pointer to this type, as a cast spells it: `tnr_view *`, `int64_t (*)[8]`.
    pub fn pointer_spelled(&self) -> String {
        match self {
            CType::Array(element, length) => format!("{} (*)[{length}]", element.spelled()),
            CType::Pointer(..) => format!("{}*", self.spelled()),
            _ => format!("{} *", self.spelled()),
        }
    }

    /// The name at the bottom of pointers and arrays.
    pub fn root(&self) -> &str {
        match self {
            CType::Void => "void",
            CType::Named(name) => name,
            CType::Pointer(to, _) | CType::Array(to, _) => to.root(),
        }
    }
}

/// Result and parameters of a function or a callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub result: CType,
    pub params: Vec<CType>,
}

impl Signature {
    /// `RESULT (POINTER)(PARAMS)`, as C writes the type of a function (`middle` is "") or of a
    /// pointer to one ("(*)").
    pub fn spelled(&self, middle: &str) -> String {
        let params: Vec<String> = self.params.iter().map(CType::spelled).collect();
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        format!("{} {middle}({params})", self.result.spelled())
    }

    /// The names of the types in it.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.result).chain(&self.params).map(CType::root)
    }
}

/// A member of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub line: usize,
    pub ty: CType,
    pub since: Version,
}

/// The kind of an item, and its contents.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number that has a name, of this type.
    Constant(String, i128),
    /// A number that has a type of its own.
    Number(CType),
    /// An opaque type.
    Handle,
    /// A pointer to a function; NULL is allowed.
    Callback(Signature),
    Struct(Vec<Field>),
}

/// A type or a constant, under its name in C.
#[derive(Clone, Debug)]
pub struct Item {
    pub name: String,
    pub line: usize,
    pub since: Version,
    pub kind: Kind,
}

/// The values that lengths of arrays are written with.
pub type Values = HashMap<String, i128>;

/// The C name of a Rust type.
fn c_name(name: &str) -> &str {
    match name {
        "i8" => "int8_t",
        "i16" => "int16_t",
        "i32" => "int32_t",
        "i64" => "int64_t",
        "u8" => "uint8_t",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "usize" => "size_t",
        "f32" => "float",
        "f64" => "double",
        "c_char" => "char",
        "c_void" => "void",
        _ => name,
    }
}

/// `ty` in C.
pub fn c_type(ty: &syn::Type, values: &Values) -> CType {
    match ty {
        syn::Type::Ptr(pointer) => {
            let access = if pointer.mutability.is_some() { Access::Write } else { Access::Read };
            CType::Pointer(Box::new(c_type(&pointer.elem, values)), access)
        }
        syn::Type::Array(array) => {
            let length = value_of(&array.len, values).and_then(|n| u64::try_from(n).ok());
            CType::Array(Box::new(c_type(&array.elem, values)), length.unwrap_or(0))
        }
        syn::Type::Path(path) => {
            let last = path.path.segments.last().map(|last| last.ident.to_string());
            CType::Named(last.unwrap_or_default())
        }
        _ => CType::Named(String::new()),
    }
}

/// The signature of a function that takes `inputs` and gives `output`.
pub fn signature<'a>(
    inputs: impl Iterator<Item = &'a syn::Type>,
    output: &syn::ReturnType,
    values: &Values,
) -> Signature {
    let result = match output {
        syn::ReturnType::Default => CType::Void,
        syn::ReturnType::Type(_, ty) => c_type(ty, values),
    };
    Signature { result, params: inputs.map(|ty| c_type(ty, values)).collect() }
}

/// The number that a constant is written as: `8`, `-1`, `1 << 4`, `OTHER`, `tnr_status(3)`.
pub fn value_of(expression: &syn::Expr, values: &Values) -> Option<i128> {
    match expression {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(value), .. }) => value.base10_parse().ok(),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => {
            value_of(expr, values)?.checked_neg()
        }
        syn::Expr::Binary(syn::ExprBinary { left, op: syn::BinOp::Shl(_), right, .. }) => {
            let by = u32::try_from(value_of(right, values)?).ok()?;
            value_of(left, values)?.checked_shl(by)
        }
        syn::Expr::Call(call) if call.args.len() == 1 => value_of(call.args.first()?, values),
        syn::Expr::Path(path) => values.get(&path.path.get_ident()?.to_string()).copied(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(ty: &str) -> (String, String) {
        let values = Values::from([("N".to_owned(), 8)]);
        let ty = c_type(&syn::parse_str(ty).expect("the type of a test is Rust"), &values);
        (ty.spelled(), ty.pointer_spelled())
    }

    #[test]
    fn types_are_spelled_as_c_does() {
        for (rust, c, pointer) in [
            ("usize", "size_t", "size_t *"),
            ("tnr_dtype", "tnr_dtype", "tnr_dtype *"),
            ("*const c_void", "const void *", "const void **"),
            ("*mut tnr_view", "tnr_view *", "tnr_view **"),
            ("*mut *mut tnr_blob", "tnr_blob **", "tnr_blob ***"),
            ("*const *mut tnr_blob", "tnr_blob *const *", "tnr_blob *const **"),
            ("[i64; N]", "int64_t[8]", "int64_t (*)[8]"),
        ] {
            assert_eq!(spelled(rust), (c.to_owned(), pointer.to_owned()), "{rust}");
        }
    }

    #[test]
    fn values_are_numbers_or_made_of_them() {
        let values = Values::from([("N".to_owned(), 8)]);
        let value = |text: &str| value_of(&syn::parse_str(text).expect("Rust"), &values);
        assert_eq!(value("0x0001_4002"), Some(0x1_4002));
        assert_eq!(value("tnr_status(-1)"), Some(-1));
        assert_eq!(value("1 << 31"), Some(1 << 31));
        assert_eq!(value("N"), Some(8));
        assert_eq!(value("N + 1"), None);
    }
}
