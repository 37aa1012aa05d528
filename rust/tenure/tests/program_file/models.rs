//! ONNX models, byte by byte: the wire format of Protocol Buffers, with the field numbers of ONNX.

/// A message while it is written.
#[derive(Clone, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number > 0x7f {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn int(mut self, field: u64, number: i64) -> Self {
        self.varint(field << 3);
        self.varint(number as u64);
        self
    }

    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn texts(self, field: u64, texts: &[&str]) -> Self {
        texts.iter().fold(self, |message, text| message.bytes(field, text.as_bytes()))
    }

    pub fn parts(self, field: u64, parts: &[Message]) -> Self {
        parts.iter().fold(self, |message, part| message.bytes(field, &part.0))
    }
}

pub const FLOAT: i64 = 1;
pub const INT64: i64 = 7;

/// A tensor without elements.
pub fn header(name: &str, element: i64, dims: &[i64]) -> Message {
    let dims = dims.iter().fold(Message::default(), |message, dim| message.int(1, *dim));
    dims.int(2, element).texts(8, &[name])
}

pub fn floats(name: &str, dims: &[i64], elements: &[f32]) -> Message {
    let raw: Vec<u8> = elements.iter().flat_map(|number| number.to_le_bytes()).collect();
    header(name, FLOAT, dims).bytes(9, &raw)
}

pub fn ints(name: &str, dims: &[i64], elements: &[i64]) -> Message {
    let raw: Vec<u8> = elements.iter().flat_map(|number| number.to_le_bytes()).collect();
    header(name, INT64, dims).bytes(9, &raw)
}

/// An input or output; an extent is a name or a number.
pub fn port(name: &str, element: i64, dims: &[&str]) -> Message {
    let dim = |dim: &&str| match dim.parse() {
        Ok(extent) => Message::default().int(1, extent),
        Err(_) => Message::default().texts(2, &[*dim]),
    };
    let dims: Vec<Message> = dims.iter().map(dim).collect();
    let shape = Message::default().parts(1, &dims);
    let tensor = Message::default().int(1, element).parts(2, &[shape]);
    let of = Message::default().parts(1, &[tensor]);
    Message::default().texts(1, &[name]).parts(2, &[of])
}

pub fn node(operator: &str, inputs: &[&str], outputs: &[&str], attributes: &[Message]) -> Message {
    let message = Message::default().texts(1, inputs).texts(2, outputs);
    message.texts(3, &[&format!("the {operator}")]).texts(4, &[operator]).parts(5, attributes)
}

pub fn int_of(name: &str, number: i64) -> Message {
    Message::default().texts(1, &[name]).int(3, number).int(20, 2)
}

/// The parts of a graph.
#[derive(Clone, Default)]
pub struct Graph {
    pub nodes: Vec<Message>,
    pub constants: Vec<Message>,
    pub inputs: Vec<Message>,
    pub outputs: Vec<Message>,
}

impl Graph {
    pub fn model(&self, version: i64) -> Vec<u8> {
        let graph = Message::default().parts(1, &self.nodes).parts(5, &self.constants);
        let graph = graph.parts(11, &self.inputs).parts(12, &self.outputs);
        let operators = Message::default().texts(1, &[""]).int(2, version);
        Message::default().int(1, 8).parts(7, &[graph]).parts(8, &[operators]).0
    }
}

/// `softmax(relu(x @ w + b))` for `x: [batch, 2]`. Arithmetic with shapes gives the shape
/// `[batch, 1, 3]`.
pub fn perceptron() -> Graph {
    Graph {
        nodes: vec![
            node("Gemm", &["x", "w", "b"], &["h"], &[]),
            node("Relu", &["h"], &["r"], &[]),
            node("Shape", &["r"], &["shape"], &[]),
            node("Gather", &["shape", "first"], &["batch"], &[]),
            node("Concat", &["batch", "rest"], &["wide"], &[int_of("axis", 0)]),
            node("Reshape", &["r", "wide"], &["s"], &[]),
            node("Softmax", &["s"], &["y"], &[int_of("axis", -1)]),
        ],
        constants: vec![
            floats("w", &[2, 3], &[1.0, -1.0, 0.5, 2.0, 1.0, -0.5]),
            floats("b", &[3], &[0.5, 0.0, -0.5]),
            ints("first", &[1], &[0]),
            ints("rest", &[2], &[1, -1]),
        ],
        inputs: vec![port("x", FLOAT, &["batch", "2"])],
        outputs: vec![port("y", FLOAT, &["batch", "1", "3"])],
    }
}
