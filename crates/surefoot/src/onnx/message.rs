//! The messages of the ONNX format that are read, with the numbers of their fields; others are skipped.

use prost::Message;

/// The content of a file.
#[derive(Clone, PartialEq, Message)]
pub struct Model {
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    /// The nodes in topological order.
    #[prost(message, repeated, tag = "1")]
    pub nodes: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    pub initializers: Vec<TensorMessage>,
    /// The inputs; in old files these include the initializers.
    #[prost(message, repeated, tag = "11")]
    pub inputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub outputs: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, repeated, tag = "1")]
    pub inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub outputs: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub operator: String,
    #[prost(message, repeated, tag = "5")]
    pub attributes: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub domain: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, tag = "2")]
    pub float: f32,
    #[prost(int64, tag = "3")]
    pub whole: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub text: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    pub tensor: Option<TensorMessage>,
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub wholes: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub texts: Vec<Vec<u8>>,
}

/// Numbers in one of several fields, or in another file.
#[derive(Clone, PartialEq, Message)]
pub struct TensorMessage {
    #[prost(int64, repeated, tag = "1")]
    pub dimensions: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub floats: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub short_wholes: Vec<i32>,
    #[prost(int64, repeated, tag = "7")]
    pub wholes: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    /// Little-endian.
    #[prost(bytes = "vec", tag = "9")]
    pub raw: Vec<u8>,
    #[prost(double, repeated, tag = "10")]
    pub doubles: Vec<f64>,
    #[prost(message, repeated, tag = "13")]
    pub external: Vec<Entry>,
    /// 1: in another file.
    #[prost(int32, tag = "14")]
    pub location: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub kind: Option<Kind>,
}

/// The type of a value; a sequence of maps, as scikit-learn's probabilities are, has no tensor.
#[derive(Clone, PartialEq, Message)]
pub struct Kind {
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<TensorKind>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TensorKind {
    #[prost(int32, tag = "1")]
    pub data_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dimensions: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    /// `None`: any size, possibly symbolic.
    #[prost(int64, optional, tag = "1")]
    pub size: Option<i64>,
}

/// The supported element types.
pub mod data_type {
    pub const FLOAT: i32 = 1;
    pub const UINT8: i32 = 2;
    pub const INT32: i32 = 6;
    pub const INT64: i32 = 7;
    pub const DOUBLE: i32 = 11;
}
